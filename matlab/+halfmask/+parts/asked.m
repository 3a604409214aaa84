function [request, data, values] = asked(inputs, count)
%ASKED  What was asked, checked before any row is read: the part that all questions share.
%   [request, data, values] = halfmask.parts.asked(inputs, count) takes the arguments of a
%   question: a vector, or a table (in Octave a struct of columns) and the name of a column; then
%   count values, such as the bounds; then names and values. data is the vector as given, still
%   unread; request has epsilon (a ratio) and cost (in words), name, relation, budget, words,
%   seeded and confidence.
if isempty(inputs)
    error('halfmask:data', 'data: none given; give a vector, or a table and the name of a column');
end
strings = cellfun(@(input) isa(input, 'string') && isscalar(input), inputs);
inputs(strings) = cellfun(@char, inputs(strings), 'UniformOutput', false);
[data, name, rest] = picked(inputs);
if numel(rest) < count
    error('halfmask:arguments', ...
        'arguments: too few after the data; see help');
end
values = rest(1:count);
options = named(rest(count + 1:end));
if isempty(options.epsilon)
    error('halfmask:price', 'price: none given; give one such as ''epsilon'', 0.5');
end
request = options;
request.name = name;
[request.epsilon, text] = halfmask.exact.meant(options.epsilon, 'epsilon');
request.price = text;
request.cost = ['epsilon ' text];
if ~any(strcmp(options.relation, {'add_remove', 'replace'}))
    error('halfmask:relation', ['relation: must be ''add_remove'' (one row more or fewer) or ' ...
        '''replace'' (one row changed, their number public)']);
end
if ~isempty(options.budget) && ~isa(options.budget, 'halfmask.Budget')
    error('halfmask:budget', 'budget: a %s given; make one with halfmask.Budget(1)', ...
        class(options.budget));
end
if ~(isnumeric(options.confidence) && isscalar(options.confidence) && ...
        options.confidence > 0 && options.confidence < 1)
    error('halfmask:confidence', 'confidence: must be between 0 and 1; 0.95 is usual');
end
if isempty(options.words)
    request.words = halfmask.noise.SecureWords();
end
request.seeded = ~isa(request.words, 'halfmask.noise.SecureWords');
end

function options = named(given)
options = struct('epsilon', [], 'relation', 'add_remove', 'budget', [], 'words', [], ...
    'confidence', 0.95);
for i = 1:2:numel(given)
    if ~ischar(given{i}) || ~isfield(options, given{i}) || i == numel(given)
        error('halfmask:arguments', ['arguments: after the data and bounds come pairs of ' ...
            '''epsilon'', ''relation'', ''budget'', ''confidence'' and their values; see help']);
    end
    options.(given{i}) = given{i + 1};
end
end

function [data, name, rest] = picked(inputs)
% The column of a table or struct, or the vector itself; its kind is looked at, not its values.
data = inputs{1};
name = '';
rest = inputs(2:end);
if isa(data, 'table') || (isstruct(data) && isscalar(data))
    if isempty(rest) || ~ischar(rest{1})
        error('halfmask:column', 'column: none named; give its name after the table');
    end
    name = rest{1};
    rest = rest(2:end);
    if isstruct(data)
        there = fieldnames(data);
    else
        there = data.Properties.VariableNames;
    end
    if ~any(strcmp(name, there))
        error('halfmask:column', 'column: ''%s'' is not there; the columns are %s', name, ...
            strjoin(there(:)', ', '));
    end
    data = data.(name);
end
if ~((isnumeric(data) || islogical(data)) && isreal(data) && (isvector(data) || isempty(data)))
    error('halfmask:data', 'data: a %s given; give a vector of real numbers', class(data));
end
end
