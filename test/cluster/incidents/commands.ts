import { onTestFinished } from 'vitest'
import { fileURLToPath } from 'node:url'
import type { DoctorReport } from '../../../src/doctor/report.ts'
import type { Explanation } from '../../../src/explain/explanation.ts'
import type {
  Change,
  ObserverFinding,
  ObserverFindingCode,
  ObserverFindingOf,
  ObserverSummary,
} from '../../../src/observer/told.ts'
import { type Child, startChild } from '../../../src/cli/testing/child.ts'
import { waitFor } from '../kube-api.ts'
import { firing } from './firing.ts'

/* The three commands that look at an incident. Each runs as a process of its own, with the given kubeconfig. */

const SLUICE = fileURLToPath(new URL('../../../src/cli/sluice.ts', import.meta.url))

export interface Access {
  kubeconfig: string
  /** The namespace. `observe` observes all namespaces where it is absent. */
  namespace?: string
  /** The config with the load balancers. */
  config?: string
}

export type SeenFinding = ObserverFinding & { at: number }

export interface Observation {
  changes(): Change[]
  findings(): SeenFinding[]
  codes(): ObserverFindingCode[]
  /** Waits for a finding of that code. Findings since the start count. */
  found<Code extends ObserverFindingCode>(
    code: Code,
    like?: (finding: ObserverFindingOf<Code>) => boolean,
  ): Promise<ObserverFindingOf<Code> & { at: number }>
  sees(what: string, like: (change: Change) => boolean): Promise<Change>
  /** The alerts that Prometheus would derive from the metrics at this instant. */
  alerts(): Promise<string[]>
  /** Ends the process as Ctrl-C does. */
  end(): Promise<ObserverSummary>
}

const PATIENCE_MS = 300_000

function argsOf({ kubeconfig, namespace, config }: Access): string[] {
  const where = namespace === undefined ? ['-A'] : ['-n', namespace]
  return ['--kubeconfig', kubeconfig, ...where, '-o', 'json', ...(config === undefined ? [] : ['--config', config])]
}

/** Starts `sluice observe`, and resolves once it has read everything. */
export async function startObserve(access: Access, ...args: string[]): Promise<Observation> {
  const child = startChild([SLUICE, 'observe', ...argsOf(access), '--metrics-listen', '127.0.0.1:0', ...args])
  onTestFinished(() => void child.process.kill('SIGKILL'))
  await child.sees('observing the cluster ')
  if (access.config !== undefined) await child.sees('observing the load balancer ')
  const [, metrics = ''] = /metrics at (\S+)/.exec(child.stderr())!
  const lines = linesOf(child)
  const changes = () => lines().flatMap((line) => (line.kind === 'ObservedChange' ? [line as unknown as Change] : []))
  const findings = () => lines().flatMap((line) => (line.kind === 'ObserverFinding' ? [line as unknown as SeenFinding] : []))
  const wait = <Found>(what: string, find: () => Found | undefined): Promise<Found> =>
    waitFor(
      what,
      async () => {
        if (child.isOver()) throw new Error(`sluice observe has ended:\n${child.stderr()}`)
        return child.stdout()
      },
      find,
      { timeoutMs: PATIENCE_MS, intervalMs: 50 },
    )
  return {
    changes,
    findings,
    codes: () => findings().map(({ code }) => code),
    found<Code extends ObserverFindingCode>(code: Code, like: (finding: ObserverFindingOf<Code>) => boolean = () => true) {
      type Found = ObserverFindingOf<Code> & { at: number }
      const ofCode = (): Found[] => findings().filter((one) => one.code === code) as unknown as Found[]
      return wait(`the finding ${code}`, () => ofCode().find(like))
    },
    sees: (what, like) => wait(what, () => changes().find(like)),
    async alerts() {
      return firing(await (await fetch(metrics)).text(), Date.now())
    },
    async end() {
      child.process.kill('SIGINT')
      const code = await child.end()
      if (code !== 0) throw new Error(`sluice observe ended with ${code}:\n${child.stderr()}`)
      return lines().at(-1) as unknown as ObserverSummary
    },
  }
}

function linesOf(child: Child): () => { kind: string }[] {
  const lines: { kind: string }[] = []
  let taken = 0
  return () => {
    const text = child.stdout()
    const end = text.lastIndexOf('\n') + 1
    if (end > taken)
      lines.push(
        ...text
          .slice(taken, end - 1)
          .split('\n')
          .map((line) => JSON.parse(line) as { kind: string }),
      )
    taken = end
    return lines
  }
}

/** `exit` is the exit code. */
export async function explain(access: Access, object: string): Promise<Explanation & { exit: number | string }> {
  return run(access, 'explain', object)
}

export async function doctor(access: Access, ...args: string[]): Promise<DoctorReport & { exit: number | string }> {
  return run(access, 'doctor', ...args)
}

export function reasonCodes({ findings }: Explanation): string[] {
  return findings.map(({ reason }) => reason.code)
}

export function doctorFindings({ checks }: DoctorReport) {
  return checks.flatMap(({ findings }) => findings)
}

async function run<Answer>(access: Access, verb: string, ...args: string[]): Promise<Answer & { exit: number | string }> {
  const child = startChild([SLUICE, verb, ...argsOf(access), ...args])
  onTestFinished(() => void child.process.kill('SIGKILL'))
  const exit = await child.end()
  try {
    return { ...(JSON.parse(child.stdout()) as Answer), exit }
  } catch (cause) {
    throw new Error(`sluice ${verb} ${args.join(' ')} ended with ${exit}:\n${child.stderr()}`, { cause })
  }
}
