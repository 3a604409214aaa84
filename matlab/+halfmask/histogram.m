function result = histogram(varargin)
%HISTOGRAM  How many values fall between public edges, with noise in each bin.
%   r = halfmask.histogram(x, edges, 'epsilon', 0.5)           of a vector
%   r = halfmask.histogram(T, 'age', edges, 'epsilon', 0.5)    of a column of a table (or struct)
%
%   Bins are [e1, e2), [e2, e3), ..., the last one closed on the right. Values outside the edges,
%   and NaN, fall in no bin; let the outer edges be -inf and inf to hold the rest. The edges must be
%   known without the data. r.value is a column with a count for each bin, r.interval has a row for
%   each, r.edges are the edges; the other fields and the options: see halfmask.count.
%
%   Privacy: epsilon-DP; one row moves the counts by 1 in L1 in all, whatever the number of bins
%   (add/remove), by 2 when replaced: bins are disjoint, so they compose in parallel. [McSherry
%   2009, Thm 4]
%
%   Example
%       r = halfmask.histogram([15 22 37 70], [0 18 65 inf], 'epsilon', 1)
%
%   See also halfmask.count, halfmask.quantile
[request, data, values] = halfmask.parts.asked(varargin, 1);
edges = values{1};
if ~(isnumeric(edges) && isvector(edges) && numel(edges) > 1 && all(diff(edges) > 0))
    error('halfmask:edges', 'edges: must be two or more rising numbers, such as [0 18 65 inf]');
end
edges = double(edges(:));
moved = 1 + strcmp(request.relation, 'replace');
mechanism = halfmask.parts.laplace(moved, request.epsilon);
halfmask.parts.charge(request, sprintf('%s, edges %s', ...
    halfmask.parts.of_column('Histogram', request), mat2str(edges')));
x = double(full(data(:)));
counts = histc([x; NaN], edges);  % NaN falls in no bin; with it there is always something to count
counts = [counts(1:end - 2); counts(end - 1) + counts(end)];  % the last edge is in the last bin
noisy = halfmask.parts.add_noise([zeros(size(counts)), counts], mechanism, request.words);
h = halfmask.parts.half_width(mechanism, request.confidence);
title = 'Number of rows by bin';
if ~isempty(request.name)
    title = ['Number of rows by ' request.name];
end
result = halfmask.parts.released(request, title, noisy, [noisy - h, noisy + h], ...
    halfmask.parts.law_text(mechanism, 1));
result.edges = edges;
end
