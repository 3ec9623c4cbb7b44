import Satchel
