function result = centre_released(request, title, cells, grids, mechanism, rank_error)
%CENTRE_RELEASED  The answer to a question for the middle of a matrix; see halfmask.parts.released.
%   rank_error: how many rows at most each value lies beside its exact rank, with the confidence
%   that was asked for.
step = [grids.step];
bounds = [[grids.lower] .* step; [grids.upper] .* step]';
result = halfmask.parts.released(request, title, cells .* step, bounds, mechanism);
result.rank_error = rank_error;
widths = bounds(:, 2) - bounds(:, 1);
told = arrayfun(@(j) halfmask.parts.written(result.value(j), widths(j) / 1000), ...
    1:numel(step), 'UniformOutput', false);
result.statement = sprintf('%s: %s, to %d rows (%g %%). %s', title, strjoin(told, ', '), ...
    rank_error, 100 * request.confidence, halfmask.parts.promise(request));
end
