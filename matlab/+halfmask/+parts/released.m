function result = released(request, title, value, interval, mechanism)
%RELEASED  The answer to a question as a struct, with the sentence in which it may be published.
result = struct('value', value, 'interval', interval, 'confidence', request.confidence, ...
    'cost', request.cost, 'relation', request.relation, 'mechanism', mechanism, ...
    'seeded', request.seeded, 'statement', '');
told = cell(1, size(interval, 1));
for i = 1:numel(told)
    spread = interval(i, 2) - interval(i, 1);
    if all(mod([value(i), interval(i, :)], 1) == 0)
        spread = inf;  % whole numbers are written whole
    end
    told{i} = sprintf('%s (%g %%: %s to %s)', halfmask.parts.written(value(i), spread), ...
        100 * request.confidence, halfmask.parts.written(interval(i, 1), spread), ...
        halfmask.parts.written(interval(i, 2), spread));
end
result.statement = sprintf('%s: %s. %s', title, strjoin(told, '; '), ...
    halfmask.parts.promise(request));
end
