%ARTICLE  A private mean salary: many trials, their bias, their spread, a histogram.
%   Run it from the folder matlab: addpath(pwd); run('examples/article.m')
%
%   The usual script adds noise to a sum and to a count, each at half of the price, from rand().
%   Here the noise is exact and from the operating system, the bounds are declared before the data
%   are seen, a budget is kept, and the whole price buys both sums. The salaries are simulated, so
%   they may be asked about again and again; of real ones every trial would have to be paid.

employees = 100;
lower = 0;
upper = 100000;  % known without the data: no salary is above it
epsilon = 0.5;
trials = 100;
pay = abs(50000 + 15000 * randn(1, employees));
true_mean = mean(min(max(pay, lower), upper));

% One release, as it may be published; a second one of the same price is refused.
budget = halfmask.Budget(epsilon);
release = halfmask.mean(pay, lower, upper, 'epsilon', epsilon, 'budget', budget);
disp(release.statement);
try
    halfmask.mean(pay, lower, upper, 'epsilon', epsilon, 'budget', budget);
catch refusal
    disp(refusal.message);
end

% Trials: the usual way, a noisy sum over a noisy count, against halfmask.mean at the same price.
ours = zeros(1, trials);
usual = zeros(1, trials);
for i = 1:trials
    release = halfmask.mean(pay, lower, upper, 'epsilon', epsilon);
    ours(i) = release.value;
    total = halfmask.sum(pay, lower, upper, 'epsilon', epsilon / 2);
    people = halfmask.count(pay, 'epsilon', epsilon / 2);
    usual(i) = total.value / max(1, people.value);
end
fprintf('\nTrue mean %.0f; %d trials at epsilon %g:\n', true_mean, trials, epsilon);
fprintf('%-16s %10s %10s %10s %10s\n', '', 'mean', 'bias', 'spread', 'error');
for way = {'usual', usual; 'halfmask.mean', ours}'
    fprintf('%-16s %10.0f %10.0f %10.0f %10.0f\n', way{1}, mean(way{2}), ...
        mean(way{2}) - true_mean, std(way{2}), sqrt(mean((way{2} - true_mean) .^ 2)));
end

% The histogram of our trials, in text, and as a figure where there is a screen.
edges = true_mean + (-8000:1000:8000);
counts = histc(min(max(ours, edges(1)), edges(end) - 1), edges);
fprintf('\n');
for i = 1:numel(edges) - 1
    mark = ' ';
    if edges(i) == true_mean
        mark = '<';  % the true mean is where this bin starts
    end
    fprintf('%7.0f %s %s\n', edges(i), mark, repmat('*', 1, counts(i)));
end
if (exist('OCTAVE_VERSION', 'builtin') && isguirunning()) || usejava('desktop')
    figure;
    bar(edges, counts, 'histc');
    hold on;
    plot([true_mean, true_mean], ylim(), 'r--', 'LineWidth', 2);
    plot([mean(ours), mean(ours)], ylim(), 'g-.', 'LineWidth', 2);
    hold off;
    legend('trials', 'true mean', 'mean of the trials');
    xlabel('mean salary');
    ylabel('trials');
end
