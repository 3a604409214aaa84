function cells = box_cells(v, lower, upper, rate, words)
%BOX_CELLS  Draw a cell of a grid, a row, with P(cell) proportional to exp(rate depth), exactly.
%   v is (n, d), a row a record, in whole cells within the rows lower .. upper; rate is a ratio.
%   For depth, see halfmask.parts.nested_boxes. It is drawn by the number of cells of that depth
%   and their weight, then one of these cells uniformly, with the words of BoxMedian in Python.
%
%   Privacy: a row more adds 0 or 1 to each count of rows and 1 to n, so it moves each 2 count - n
%   by exactly 1 and 2 depth - n by at most 1: this is epsilon-DP at a rate of epsilon for one row
%   added or removed, of epsilon/2 for one replaced. [McSherry & Talwar 2007, Thm 6]
boxes = halfmask.parts.nested_boxes(v, lower, upper);
there = boxes.there;
chosen = there(halfmask.noise.weighted_huge(boxes.logs, boxes.slack, ...
    @(i) counted(boxes, there(i)), there, rate, 1, words));
place = halfmask.noise.below_whole(counted(boxes, chosen), words);
cells = halfmask.parts.box_point(boxes, chosen, place);
end

function count = counted(boxes, k)
[~, count] = halfmask.parts.box_layers(boxes, k);
end
