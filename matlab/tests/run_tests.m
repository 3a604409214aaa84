function run_tests(varargin)
%RUN_TESTS  Run every test beside this file, or those named: run_tests('test_vectors').
%   octave --no-gui --quiet --eval "cd matlab/tests; run_tests"
%   A test file gives a list of functions; one that ends without an error has passed. Failures end
%   the process with exit code 1 in Octave, with an error in MATLAB.
here = fileparts(mfilename('fullpath'));
if exist('OCTAVE_VERSION', 'builtin')
    warning('off', 'Octave:shadowed-function');  % in a package, sum shadows nothing
end
addpath(here, fileparts(here));
names = varargin;
if isempty(names)
    found = dir(fullfile(here, 'test_*.m'));
    names = strrep({found.name}, '.m', '');
end
passed = 0;
failed = 0;
for i = 1:numel(names)
    tests = feval(names{i});
    for j = 1:numel(tests)
        try
            tests{j}();
            passed = passed + 1;
        catch problem
            failed = failed + 1;
            fprintf('FAILED %s %s: %s\n', names{i}, func2str(tests{j}), problem.message);
        end
    end
end
fprintf('%d passed, %d failed\n', passed, failed);
if failed > 0 && exist('OCTAVE_VERSION', 'builtin')
    exit(1);
elseif failed > 0
    error('halfmask:tests', 'tests: %d failed; see above', failed);
end
end
