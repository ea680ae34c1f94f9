import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { NAMESPACE } from '../cluster/manifests.ts'
import { DemoError } from '../demo-error.ts'
import type { Child, Children } from '../processes/children.ts'

/** The commands of sluice, each as a process of its own against the API of the embedded cluster. */
export interface Tools {
  /** Resolves once everything is observed. */
  observe(flags: readonly string[]): Promise<Observing>
  doctor(): Promise<void>
  explain(object: string): Promise<void>
  /** Rejects where it does not end with 0. */
  upgrade(flags: readonly string[]): Promise<void>
}

export interface Observing {
  /** Ends it in order, with its summary. */
  end(): Promise<void>
}

export interface ToolsOptions {
  children: Children
  /** The script that is sluice's command line. */
  program: string
  kubeconfig: string
  config: string
  /** The command as it is run, and then lines of its output. */
  onCommand(command: string): void
  onLine(line: string): void
  /** A finding: by which command, with which code. `isNote`: nothing is wrong by that alone. */
  onFound(command: string, code: string, isNote?: boolean): void
}

/** Of `observe`: a finding, what belongs to it, and the summary. */
const FINDING = /^\d\d:\d\d:\d\d\.\d+ {2}[‼×] /
const SUMMARY = /^observed for [^;]+; (.*)$/
const COUNTED = /\d+ × ([a-z-]+)/g
/** Of `doctor`: a check that has found something. */
const CHECK = /^[‼×] (?!\d+ passed)/
/** The last line of each finding of both. */
const PAGE = /see docs\/\w+\.md#([a-z-]+)$/
/** Of `explain`: what is wrong, and what is worth knowing. */
const REASON = /^([‼×?]) .* \[([a-z-]+)\]$/
/** What is worth seeing of an upgrade. */
const PROGRESS = / (drain of|restore of|✓) |^Done:/
/** So many of one code are shown. */
const SHOWN = 2
const LEGS_SHOWN = 4
const POLL_MS = 20

export function createTools(options: ToolsOptions): Tools {
  const { children, program, kubeconfig, config, onCommand, onLine, onFound } = options
  const env = { ...process.env, KUBECONFIG: kubeconfig, SLUICE_CONFIG: config, NO_COLOR: '1' }

  function start(args: readonly string[], take: (line: string) => void): Child & { allRead: Promise<void> } {
    onCommand(`sluice ${args.join(' ')}`)
    const child = children.runOnLeash([process.execPath, program, ...args], { env })
    const lines = createInterface({ input: child.process.stdout! })
    lines.on('line', take)
    return { ...child, allRead: new Promise((resolve) => lines.once('close', resolve)) }
  }

  async function run(args: readonly string[], take: (line: string) => void, codes: readonly number[]): Promise<void> {
    const child = start(args, take)
    const code = await child.exit
    await child.allRead
    if (!codes.includes(code as number)) throw new DemoError(`sluice ${args.join(' ')} ended with ${code}: ${child.complaints()}`)
  }

  return {
    async observe(flags) {
      const findings = createFindings(onLine)
      let isSummary = false
      let legs = 0
      const child = start(['observe', '-n', NAMESPACE, '--poll', '200ms', ...flags], (line) => {
        const counted = SUMMARY.exec(line)?.[1]
        for (const [, code] of counted?.matchAll(COUNTED) ?? []) onFound('observe', code!)
        if (counted !== undefined) {
          isSummary = true
          findings.end()
          onLine(line)
        } else if (isSummary) {
          if (legs++ < LEGS_SHOWN) onLine(line)
        } else if (FINDING.test(line)) findings.begin(line)
        else if (line.startsWith(' ')) findings.add(line)
      })
      let isOver = false
      void child.exit.then(() => (isOver = true))
      // It says so once it has read the cluster and the load balancer.
      while (!/observing the cluster/.test(child.complaints()) || !/observing the load balancer/.test(child.complaints())) {
        if (isOver) throw new DemoError(`sluice observe ended too early: ${child.complaints()}`)
        await sleep(POLL_MS)
      }
      return {
        async end() {
          child.kill('SIGINT')
          const code = await child.exit
          await child.allRead
          if (code !== 0) throw new DemoError(`sluice observe ended with ${code}: ${child.complaints()}`)
        },
      }
    },
    async doctor() {
      const findings = createFindings(onLine)
      let isFinding = false
      let found = 0
      const take = (line: string): void => {
        const [, code] = PAGE.exec(line) ?? []
        if (code !== undefined) {
          found += 1
          onFound('doctor', code)
        }
        isFinding = CHECK.test(line) || (isFinding && line.startsWith(' '))
        if (CHECK.test(line)) onLine(line)
        else if (isFinding) findings.add(line)
      }
      await run(['doctor', '-n', NAMESPACE], take, [0, 3])
      findings.end()
      if (found === 0) onLine('no findings')
    },
    async explain(object) {
      const take = (line: string): void => {
        const [, mark, code] = REASON.exec(line) ?? []
        if (code !== undefined) onFound('explain', code, mark !== '×')
        onLine(line)
      }
      await run(['explain', object, '-n', NAMESPACE], take, [0, 1, 3])
    },
    upgrade: (flags) =>
      run(
        ['upgrade', ...flags, '-n', NAMESPACE],
        (line) => {
          if (PROGRESS.test(line)) onLine(line)
        },
        [0],
      ),
  }
}

/** Shows the first findings of each code, and how many more there are. A finding ends with its page. */
function createFindings(onLine: (line: string) => void): { begin(line: string): void; add(line: string): void; end(): void } {
  const times = new Map<string, number>()
  let lines: string[] = []
  return {
    begin(line) {
      lines = [line]
    },
    add(line) {
      lines.push(line)
      const [, code] = PAGE.exec(line) ?? []
      if (code === undefined) return
      const before = times.get(code) ?? 0
      times.set(code, before + 1)
      if (before < SHOWN) for (const one of lines) onLine(one)
      lines = []
    },
    end() {
      for (const [code, count] of times) if (count > SHOWN) onLine(`… and ${count - SHOWN} more of ${code}`)
      times.clear()
    },
  }
}
