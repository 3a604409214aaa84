"""How points spread in many dimensions, whatever their tails.

sign        `SignCovariance`: the mean of u u^T, u the direction of a point from the centre
tyler       `TylerScatter`: Tyler's shape, by a few sign covariances in turned coordinates
shape       what that is read as, with intervals
"""

from halfmask.procedures.scatter.shape import Shape
from halfmask.procedures.scatter.sign import SignCovariance
from halfmask.procedures.scatter.tyler import TylerScatter

__all__ = ["Shape", "SignCovariance", "TylerScatter"]
