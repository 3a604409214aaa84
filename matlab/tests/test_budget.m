function tests = test_budget()
%TEST_BUDGET  A budget refuses, remembers, and notices what was done behind its back.
tests = {@ten_tenths_are_one, @costs_round_up, @a_file_is_gone_on_with, @it_refuses_before_rows, ...
    @every_change_is_noticed, @another_session_is_noticed, @files_are_not_overwritten};
end

function ten_tenths_are_one()
b = halfmask.Budget(1);
for i = 1:10
    b.charge(0.1, 'a question');
end
check(strcmp(b.remaining(), 'epsilon 0'), 'left: %s', b.remaining());
refused(@() b.charge(1e-12, 'one more'), 'halfmask:budget', 'epsilon 0 is left of epsilon 1');
b.verify();
end

function costs_round_up()
b = halfmask.Budget('1/3');
check(b.account.budget == uint64(333333333333), 'a budget is rounded down');
refused(@() b.charge('1/3', 'all of it'), 'halfmask:budget', 'ask for less');
large = halfmask.Budget(1e6);
row = large.charge(999999.999999999999, 'nearly all');
check(row.amount == uint64(1000000) * uint64(1e12) || ...
    strcmp(large.remaining(), 'epsilon 0.000000000001'), 'digits of a large price are lost');
row = halfmask.Budget(1e6);
row = row.charge('999999.999999999999', 'nearly all');
check(row.amount == uint64(1000000) * uint64(1e12) - uint64(1), 'a large price is rounded');
for bad = {0, -1, NaN, 'much'}
    refused(@() halfmask.Budget(bad{1}), 'halfmask:price', 'budget: ');
end
end

function a_file_is_gone_on_with()
file = fresh_file();
first = halfmask.Budget(2, file);
first.charge(0.5, 'mean of "pay" \ 1');
second = halfmask.Budget.open(file);
check(strcmp(second.remaining(), 'epsilon 1.5'), 'left: %s', second.remaining());
check(isequal(second.spends, first.spends), 'other rows');
second.charge(1.5, 'the rest');
refused(@() second.charge(0.1, 'more'), 'halfmask:budget', 'No row was read');
third = halfmask.Budget.open(file);
check(numel(third.spends) == 2, 'a charge was not kept');
delete(file);
end

function it_refuses_before_rows()
b = halfmask.Budget(0.3);
x = 1:10;
refused(@() halfmask.count(x, 'epsilon', 0.5, 'budget', b), 'halfmask:budget', '0.3 is left');
refused(@() halfmask.sum(x, 0, 1, 'epsilon', 0.5, 'budget', b), 'halfmask:budget', '0.3');
refused(@() halfmask.mean(x, 0, 1, 'epsilon', 0.5, 'budget', b), 'halfmask:budget', '0.3');
refused(@() halfmask.histogram(x, [0 1], 'epsilon', 0.5, 'budget', b), 'halfmask:budget', '0.3');
refused(@() halfmask.median(x, 0, 1, 'epsilon', 0.5, 'budget', b), 'halfmask:budget', '0.3');
r = halfmask.mean(x, 0, 20, 'epsilon', 0.1, 'budget', b);
check(strcmp(r.cost, 'epsilon 0.1') && strcmp(b.remaining(), 'epsilon 0.2'), 'another price');
halfmask.count(x, 'epsilon', 5, 'relation', 'replace', 'budget', b);
check(strcmp(b.remaining(), 'epsilon 0.2'), 'what is public was charged');
end

function every_change_is_noticed()
file = fresh_file();
b = halfmask.Budget(2, file);
b.charge(0.5, 'first');
b.charge(0.25, 'second');
whole = fileread(file);
changes = {'"amount":500000000000', '"amount":400000000000'; ...
    '"query":"first"', '"query":"other"'; ...
    '"spent":750000000000', '"spent":250000000000'; '"total":750', '"total":250'; ...
    '"budget":2000000000000', '"budget":3000000000000'; '"seq":1', '"seq":2'; ...
    '"head_seq":2', '"head_seq":1'};
for i = 1:size(changes, 1)
    check(~isempty(strfind(whole, changes{i, 1})), '%s is not there', changes{i, 1});
    written(file, strrep(whole, changes{i, 1}, changes{i, 2}));
    refused(@() halfmask.Budget.open(file), 'halfmask:budget', 'budget: ');
end
lines = strsplit(whole, sprintf('\n'));
written(file, strjoin(lines([1:3, 5:end]), sprintf('\n')));
refused(@() halfmask.Budget.open(file), 'halfmask:budget', 'restore a copy');
written(file, whole);
halfmask.Budget.open(file);
delete(file);
end

function another_session_is_noticed()
file = fresh_file();
mine = halfmask.Budget(2, file);
other = halfmask.Budget.open(file);
other.charge(1.5, 'theirs');
refused(@() mine.charge(1, 'mine'), 'halfmask:budget', 'another session');
check(isempty(mine.spends), 'a refused charge was kept');
delete(file);
refused(@() mine.charge(1, 'mine'), 'halfmask:budget', 'cannot be read');
end

function files_are_not_overwritten()
file = fresh_file();
b = halfmask.Budget(2, file);
refused(@() halfmask.Budget(5, file), 'halfmask:budget', 'exists');
refused(@() feval(@(c) c.export(file), halfmask.Budget(5)), 'halfmask:budget', 'exists');
refused(@() halfmask.Budget(1, fullfile(file, 'none', 'x.json')), 'halfmask:budget', 'written');
written(file, 'something else');
refused(@() halfmask.Budget.open(file), 'halfmask:budget', 'no exported budget');
delete(file);
refused(@() halfmask.Budget.open(file), 'halfmask:budget', 'cannot be read');
check(~isempty(b), 'unused');
end

function file = fresh_file()
file = [tempname() '.json'];
end

function written(file, text)
handle = fopen(file, 'w');
fwrite(handle, text);
fclose(handle);
end
