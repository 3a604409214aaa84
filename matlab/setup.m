%SETUP  Put the toolbox on the path of this session: run('matlab/setup.m').
%   halfmask.sum, halfmask.mean and their like live in a package and shadow nothing; Octave warns of
%   their names all the same, so that warning is off while the path is set.
if exist('OCTAVE_VERSION', 'builtin')
    warning('off', 'Octave:shadowed-function', 'local');
end
addpath(fileparts(mfilename('fullpath')));
