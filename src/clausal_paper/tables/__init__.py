"""The paper's tables of link prediction on FB122 and WN18: their numbers, a recipe for each row, and a comparison."""
