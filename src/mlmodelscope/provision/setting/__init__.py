"""How a machine is set while something runs on it: applied, read back, recorded, and set back."""

from mlmodelscope.provision.setting.applied import Place, applied, restore_left_behind
from mlmodelscope.provision.setting.lever import Setting

__all__ = ["Place", "Setting", "applied", "restore_left_behind"]
