import { runCommand } from './run-command.ts'

/** Static programs from the packages of a Go module, into the folder `target`. */
export async function goBuild(source: string, target: string, packages: string[], linkerFlags: string[] = []): Promise<void> {
  const ldflags = ['-s', '-w', ...linkerFlags].join(' ')
  await runCommand('go', ['build', '-trimpath', '-buildvcs=false', '-ldflags', ldflags, '-o', `${target}/`, ...packages], {
    cwd: source,
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '' },
    timeoutMs: 60 * 60_000,
  })
}
