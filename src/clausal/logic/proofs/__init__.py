"""Proofs: why a fact of a closure follows, as a tree of clauses and given facts, or what nearly supports it."""

from clausal.logic.proofs.near import NearSupport, near_to_json, print_near
from clausal.logic.proofs.proof import Proof, print_proof, proof_to_json
from clausal.logic.proofs.prover import Prover

__all__ = ["NearSupport", "Proof", "Prover", "near_to_json", "print_near", "print_proof", "proof_to_json"]
