from .recording import Recording as Recording
from .review import Review as Review
from .site import LocalSite as LocalSite
