import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { nextOf } from '../../src/explain/next.ts'
import type { Reason } from '../../src/reasons/reason.ts'
import { shellForm } from '../../src/report/words/shell.ts'
import { reasonSamples } from '../../src/report/words/testing/samples.ts'
import { ensureKubectl } from '../cluster/binaries.ts'
import { chosenVersion } from '../cluster/kubernetes-versions.ts'
import { runCommand } from '../cluster/run-command.ts'
import { onPath } from '../cluster/support.ts'
import { kubectlIsHere } from '../embedded/kubectl.ts'
import { type ControlPlane, startControlPlane } from './endpoints/control-plane.ts'
import { findKubernetes } from './kubernetes.ts'
import { describeOn } from './program.ts'

/*
 * A shell and a real kubectl accept the kubectl commands that findings print. Their objects do not exist, which is the only error that
 * kubectl may report.
 */

const GOLDEN = join(import.meta.dirname, '../golden')
const ABOUT = { namespace: 'shop', pod: 'web-0', service: 'web', workload: 'statefulset/web' }
/** The limit for a command that waits for changes. */
const WATCH_FOR = '--request-timeout=1s'

function printedIn(file: string): string[] {
  return [...readFileSync(join(GOLDEN, file), 'utf8').matchAll(/^ +(kubectl .*)$/gm)].map(([, line]) => line!)
}

function printedByExplain(): string[] {
  const reasons = Object.entries(reasonSamples).flatMap(([code, samples]) =>
    samples.map((fields) => ({ code, ...fields }) as Reason),
  )
  return reasons
    .flatMap((reason) => nextOf(reason, ABOUT).map((command) => shellForm(command)))
    .filter((line) => line.startsWith('kubectl '))
}

const COMMANDS = [...new Set([...printedIn('doctor-words.txt'), ...printedIn('observe-words.txt'), ...printedByExplain()])]

const kubernetes = await findKubernetes(chosenVersion())

describeOn(
  kubectlIsHere ? kubernetes : { ...kubernetes, title: `${kubernetes.title} and kubectl`, program: undefined },
  (programs) => {
    let plane: ControlPlane
    let kubectl: string
    const home = mkdtempSync(join(tmpdir(), 'sluice-finding-commands-'))

    beforeAll(async () => {
      kubectl = onPath('kubectl') ? 'kubectl' : await ensureKubectl()
      plane = await startControlPlane(programs)
    }, 120_000)
    afterAll(async () => {
      await plane?.stop()
      rmSync(home, { recursive: true })
    })

    /** The error of kubectl for the line, other than a missing object. */
    async function refusalOf(line: string): Promise<string> {
      const script = `kubectl() { command ${kubectl} "$@" ${line.includes('--watch') ? WATCH_FOR : ''}; }\n${line}`
      const env = { PATH: process.env['PATH'], HOME: home, KUBECONFIG: plane.kubeconfig }
      const { stderr } = await runCommand('sh', ['-c', script], { env, allowFailure: true })
      return stderr
        .split('\n')
        .filter((said) => !/^$|^No resources found|NotFound|not found$|^Warning: v1 Endpoints is deprecated/.test(said))
        .join('\n')
    }

    test('there are commands of all three', () => {
      expect(COMMANDS.length).toBeGreaterThan(15)
      expect(COMMANDS).toContain('kubectl -n shop get pods --show-labels')
    })

    test.each(COMMANDS)('%s', async (line) => {
      expect(await refusalOf(line)).toBe('')
    })

    test.each([
      'kubectl -n shop get endpoint-slice/web',
      'kubectl -n shop get pods --show-label',
      'kubectl -n shop describe web-0',
      "kubectl -n shop get 'pods",
    ])('a wrong one is found: %s', async (line) => {
      expect(await refusalOf(line)).not.toBe('')
    })
  },
)
