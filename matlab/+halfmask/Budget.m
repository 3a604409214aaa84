classdef Budget < handle
%BUDGET  What may be spent on one table in all, and every charge against it; it refuses more.
%   b = halfmask.Budget(1)                       epsilon 1, in memory
%   b = halfmask.Budget(1, 'payroll.json')       kept in a new file, written before rows are read
%   b = halfmask.Budget.open('payroll.json')     an existing file, checked from end to end
%
%   halfmask.mean(x, 0, 100, 'epsilon', 0.5, 'budget', b)   charges 0.5, then reads x
%   b.remaining()                                what is left, such as 'epsilon 0.5'
%   b.charge(0.1, 'my own question')             a charge of your own
%   b.export('copy.json')                        for `halfmask ledger verify copy.json`
%
%   Amounts are whole numbers of 1e-12: ten times 0.1 is 1. Costs are rounded up, the budget down.
%   Every charge carries the SHA-256 of itself and of the one before, the chain of the ledger in
%   Python, so that Python can check an export. A file is for one session at a time: a budget whose
%   file was changed behind its back refuses to charge.
%
%   Privacy: prices chosen adaptively and stopped at the budget compose to it. [Rogers, Roth, Ullman
%   & Vadhan 2016: sums of epsilon are a filter]
    properties (SetAccess = private)
        file = ''
        account
        spends = {}
    end
    methods
        function self = Budget(epsilon, file)
            if nargin == 0
                error('halfmask:budget', 'budget: none given; give an epsilon such as 1');
            end
            if isstruct(epsilon)  % what Budget.open has read
                self.account = epsilon.account;
                self.spends = epsilon.spends;
                self.file = file;
                return
            end
            [amount, text] = halfmask.exact.meant(epsilon, 'budget');
            self.account = opened(halfmask.parts.units(amount, false), text);
            if nargin > 1
                file = char(file);
                if exist(file, 'file')
                    error('halfmask:budget', ['budget: %s exists; ' ...
                        'open it with halfmask.Budget.open, or choose another file'], file);
                end
                self.file = file;
                self.export(file);
            end
        end

        function row = charge(self, epsilon, query)
            %CHARGE  Charge a price, durably, before any row is read; halfmask:budget if too little
            %   is left. The row of the ledger is returned.
            [amount, text] = halfmask.exact.meant(epsilon, 'epsilon');
            amount = halfmask.parts.units(amount, true);
            self.check_file();
            left = self.account.budget - self.account.spent;
            if amount > left
                error('halfmask:budget', ['%s: costs epsilon %s, and %s is left of epsilon %s; ' ...
                    'ask for less, or open a larger budget. No row was read.'], ...
                    query, text, self.remaining(), priced(self.account.budget));
            end
            row = struct('seq', self.account.head_seq + 1, 'request_id', [], ...
                'time', halfmask.parts.utc_now(), 'actor', halfmask.parts.ascii(login()), ...
                'query', halfmask.parts.ascii(query), 'price', price_text(text), ...
                'amount', amount, 'amount_delta', uint64(0), ...
                'total', self.account.spent + amount, 'total_delta', uint64(0), ...
                'previous', self.account.head_hash);
            row.hash = digest(row);
            before = {self.account, self.spends};
            self.spends{end + 1} = row;
            self.account.spent = row.total;
            self.account.head_seq = row.seq;
            self.account.head_hash = row.hash;
            if ~isempty(self.file)
                try
                    self.export(self.file);
                catch problem
                    [self.account, self.spends] = before{:};
                    rethrow(problem);
                end
            end
        end

        function text = remaining(self)
            %REMAINING  What is left to spend, such as 'epsilon 0.5'.
            text = ['epsilon ', priced(self.account.budget - self.account.spent)];
        end

        function export(self, file)
            %EXPORT  Write all of it as JSON; Python checks that with `halfmask ledger verify`.
            file = char(file);
            if exist(file, 'file') && ~strcmp(file, self.file)
                error('halfmask:budget', 'budget: %s exists; choose another file', file);
            end
            rows = cellfun(@(row) halfmask.parts.json(row, fieldnames(row)'), self.spends, ...
                'UniformOutput', false);
            text = sprintf('{"format":"halfmask ledger 1",\n"account":%s,\n"spend":[\n%s\n]}\n', ...
                halfmask.parts.json(self.account, fieldnames(self.account)'), ...
                strjoin(rows, sprintf(',\n')));
            replace_file(file, text);
        end

        function verify(self)
            %VERIFY  Check every row, sum and link; halfmask:budget says which row broke.
            total = uint64(0);
            link = genesis(self.account);
            for i = 1:numel(self.spends)
                row = self.spends{i};
                refuse(row.seq ~= i, 'row %d is missing', i);
                refuse(~strcmp(row.hash, digest(row)), 'row %d was changed', i);
                refuse(~strcmp(row.previous, link), 'row %d does not follow', i);
                total = total + row.amount;
                refuse(row.total ~= total, 'row %d has a wrong sum', i);
                link = row.hash;
            end
            refuse(self.account.head_seq ~= numel(self.spends), ...
                'rows after %d are missing', numel(self.spends));
            refuse(~strcmp(self.account.head_hash, link), 'the last digest was changed', 0);
            refuse(self.account.spent ~= total, 'the sum was changed', 0);
            refuse(total > self.account.budget, 'more was spent than the budget', 0);
        end

        function disp(self)
            count = numel(self.spends);
            fprintf('budget: %s left of epsilon %s, %d charge%s\n', self.remaining(), ...
                priced(self.account.budget), count, repmat('s', 1, count ~= 1));
        end
    end
    methods (Access = private)
        function check_file(self)
            if isempty(self.file)
                return
            end
            found = read_file(self.file);
            if ~strcmp(found.account.head_hash, self.account.head_hash)
                error('halfmask:budget', ['budget: %s was changed by another session; ' ...
                    'open it anew. No row was read.'], self.file);
            end
        end
    end
    methods (Static)
        function self = open(file)
            %OPEN  Go on from an existing file, once it has been checked from end to end.
            self = halfmask.Budget(read_file(char(file)), char(file));
            self.verify();
        end
    end
end

function account = opened(budget, text)
account = struct('opened', halfmask.parts.utc_now(), 'budget_text', price_text(text), ...
    'budget', budget, 'budget_delta', uint64(0), 'spent', uint64(0), ...
    'spent_delta', uint64(0), 'head_seq', uint64(0), 'head_hash', '');
account.head_hash = genesis(account);
end

function text = price_text(epsilon)
text = sprintf('{"epsilon": "%s", "measure": "pure"}', epsilon);
end

function hash_of = genesis(account)
% The digest of what never changes; the first row links to it.
account.format = 'halfmask ledger 1';
hash_of = halfmask.parts.sha256(halfmask.parts.json(account, ...
    {'format', 'opened', 'budget_text', 'budget', 'budget_delta'}));
end

function hash_of = digest(row)
hash_of = halfmask.parts.sha256(halfmask.parts.json(row, setdiff(fieldnames(row)', {'hash'})));
end

function text = priced(units)
% An amount of 1e-12 as a decimal.
one = uint64(1e12);
above = idivide(units, one, 'floor');
text = regexprep(sprintf('%d.%012d', above, units - above * one), '\.?0+$', '');
end

function name = login()
names = {getenv('USER'), getenv('USERNAME'), getenv('LOGNAME'), 'unknown'};
name = names{find(~cellfun(@isempty, names), 1)};
end

function refuse(found, fault, varargin)
if found
    error('halfmask:budget', ['budget: ' fault '; stop spending from it and restore a copy ' ...
        'you trust'], varargin{:});
end
end

function replace_file(file, text)
% Write beside it, then move over it: a file is old or new, never half.
fresh = [file '.new'];
handle = fopen(fresh, 'w');
if handle < 0
    error('halfmask:budget', ['budget: %s cannot be written; make the folder writable, or ' ...
        'choose another. No row was read.'], file);
end
written = fwrite(handle, text);
closed = fclose(handle);
[moved, message] = movefile(fresh, file, 'f');
if written ~= numel(text) || closed ~= 0 || ~moved
    error('halfmask:budget', 'budget: %s cannot be written (%s). No row was read.', file, message);
end
end

function found = read_file(file)
handle = fopen(file, 'r');
if handle < 0
    error('halfmask:budget', 'budget: %s cannot be read; check the path', file);
end
text = fread(handle, [1, inf], 'char=>char');
fclose(handle);
lines = strsplit(strtrim(text), sprintf('\n'), 'CollapseDelimiters', false);
if numel(lines) < 5 || ~strcmp(lines{1}, '{"format":"halfmask ledger 1",')
    error('halfmask:budget', 'budget: %s is no exported budget; give another path', file);
end
found.account = halfmask.parts.unjson(lines{2}(numel('"account":') + 1:end));
rows = lines(4:end - 1);
rows = rows(~cellfun(@isempty, rows));
found.spends = cellfun(@halfmask.parts.unjson, rows, 'UniformOutput', false);
end
