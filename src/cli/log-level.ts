/** As it was asked for, by -v or SLUICE_LOG; undefined where it was not. */
export function logLevel(verbose: boolean, env: NodeJS.ProcessEnv): string | undefined {
  return env['SLUICE_LOG'] || (verbose ? 'debug' : undefined)
}

/** Lines of a log will stand between those of the output. */
export function isLogging(verbose: boolean, env: NodeJS.ProcessEnv): boolean {
  return ![undefined, 'silent'].includes(logLevel(verbose, env))
}
