function result = count(varargin)
%COUNT  The number of rows, with noise: how many people are in a table.
%   r = halfmask.count(x, 'epsilon', 0.5)   the number of elements of a vector (NaN counts as a row)
%   r = halfmask.count(T, 'epsilon', 0.5)   the rows of a table, or of a struct of columns
%
%   r.value, r.interval (95 %), r.cost, r.statement (in words, as it may be published), r.mechanism.
%
%   Options, as names and values:
%       'epsilon'     the price; 0.1 means one tenth, '1/3' a third
%       'relation'    'add_remove' (one row more or fewer), or 'replace' (one row changed): then the
%                     number of rows is public, and given exactly, free of charge
%       'budget'      a halfmask.Budget, which is charged before a row is read, or refuses
%       'confidence'  of the interval, 0.95 unless given
%
%   Privacy: epsilon-DP; one row moves the count by 1, so discrete Laplace noise of scale 1/epsilon.
%   [Dwork, McSherry, Nissim & Smith 2006, Prop. 1]
%
%   Example
%       r = halfmask.count(rand(1, 100), 'epsilon', 0.5);
%       disp(r.statement)
%
%   See also halfmask.sum, halfmask.mean, halfmask.histogram, halfmask.Budget
inputs = varargin;
if numel(inputs) > 0 && (isa(varargin{1}, 'table') || isstruct(varargin{1}))
    inputs{1} = rows_of(varargin{1});
end
[request, data] = halfmask.parts.asked(inputs, 0);
known = strcmp(request.relation, 'replace');
mechanism = halfmask.parts.laplace(double(~known), request.epsilon);
if known
    request.cost = 'nothing (the relation makes it public)';
else
    halfmask.parts.charge(request, 'count of rows');
end
value = halfmask.parts.add_noise([0, numel(data)], mechanism, request.words);
h = halfmask.parts.half_width(mechanism, request.confidence);
result = halfmask.parts.released(request, 'Number of rows', value, [value - h, value + h], ...
    halfmask.parts.law_text(mechanism, 1));
end

function rows = rows_of(table_of)
% A vector as long as the table.
if isstruct(table_of)
    names = fieldnames(table_of);
    if isempty(names)
        error('halfmask:data', 'data: a struct without columns; give one with a column');
    end
    rows = zeros(numel(table_of.(names{1})), 1);
else
    rows = zeros(height(table_of), 1);
end
end
