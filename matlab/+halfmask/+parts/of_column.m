function text = of_column(what, request)
%OF_COLUMN  'sum of pay' where the column has a name, else 'sum'.
text = what;
if ~isempty(request.name)
    text = [what ' of ' request.name];
end
end
