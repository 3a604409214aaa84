function text = ascii(text)
%ASCII  A text as a ledger keeps it: printable ASCII, a question mark for all else.
text = char(text);
text(text < 32 | text > 126) = '?';
end
