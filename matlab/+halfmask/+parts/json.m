function text = json(fields, names)
%JSON  Canonical JSON of a flat struct, as Python's json.dumps writes it with sorted keys.
%   text = halfmask.parts.json(fields, names) writes the named fields: integers (uint64), texts, and
%   null for []. Texts are printable ASCII: see halfmask.parts.ascii.
names = sort(names);
parts = cell(1, numel(names));
for i = 1:numel(names)
    value = fields.(names{i});
    if ischar(value)
        value = ['"', strrep(strrep(value, '\', '\\'), '"', '\"'), '"'];
    elseif isempty(value)
        value = 'null';
    else
        value = sprintf('%d', value);
    end
    parts{i} = ['"', names{i}, '":', value];
end
text = ['{', strjoin(parts, ','), '}'];
end
