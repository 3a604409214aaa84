function [form, value_form, law] = mean_replaced(sums, width, request, rows)
%MEAN_REPLACED  The mean where rows are replaced and their number is public.
%   The pair of sums is turned to (A - B, A + B): a replaced row moves the first by 2 widths, or
%   each by one where a value turns missing. form is the ratio of both, for an interval that holds
%   whatever is missing; value_form takes the public number of rows, unless too many values seem
%   missing.
%
%   Privacy: 2 widths in L1 at the whole price. [Dwork, McSherry, Nissim & Smith 2006, Prop. 1] The
%   number of rows is public under this relation, by its definition.
mechanism = halfmask.parts.laplace(2 * width, request.epsilon);
noisy = halfmask.parts.add_noise([sums(2, :) - sums(1, :); sums(1, :) + sums(2, :)], ...
    mechanism, request.words) / width;
scale = mechanism.deviation / width / sqrt(2);
form = struct('noisy', noisy, 'top', [0.5; 0.5], 'bottom', [0; 1], 'scale', [scale; scale]);
value_form = form;
if noisy(2) >= rows - 3 * sqrt(2) * scale
    value_form.noisy(2) = rows;
end
law = halfmask.parts.law_text(mechanism, 1 / width);
end
