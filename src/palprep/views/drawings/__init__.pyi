from .pictures import (
    PICTURES_NAME as PICTURES_NAME,
    PictureFolder as PictureFolder,
    pictures_of as pictures_of,
    write_picture as write_picture,
)
