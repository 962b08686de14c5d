"""Processes that train one model together: who has which rows, how numbers travel, how they meet and how they end."""

from clausal.peers.dealing import Dealing
from clausal.peers.group import ALONE, Peers

__all__ = ["ALONE", "Dealing", "Peers"]
