% who is located where
located_in(X, Z) :- located_in(X, Y), located_in(Y, Z)
located_in(X, Y) :- capital_of(X, Y).
'Lives In'(X, Y) :- "born:in"(X, Y) <0.9>
speaks(X, 'Esperanto') :- lives_in(X, Y), /ns/place.type(Y, Z)   # comment
