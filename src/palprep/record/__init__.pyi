from .recording import Recording as Recording
from .site import LocalSite as LocalSite
