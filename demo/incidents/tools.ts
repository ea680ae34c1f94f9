import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { NAMESPACE } from '../cluster/manifests.ts'
import { DemoError } from '../demo-error.ts'
import type { Child, Children } from '../processes/children.ts'

/** The commands of sluice. Each runs as a separate process against the API of the embedded cluster. */
export interface Tools {
  /** Resolves once sluice observes the cluster and the load balancer. */
  observe(flags: readonly string[]): Promise<Observing>
  doctor(): Promise<void>
  explain(object: string): Promise<void>
  /** Starts `sluice sync` with a config. */
  sync(config: string): Syncing
  /** Rejects where the rules of the webhook have mistakes. */
  checkRules(file: string): Promise<void>
  /** Rejects where the command exits with a code other than 0. */
  upgrade(flags: readonly string[]): Promise<void>
}

export interface Observing {
  /** Ends the command in order, so that it prints its summary. */
  end(): Promise<void>
}

export interface Syncing {
  /** The problems that the command has told so far, by their codes. */
  told(): ReadonlySet<string>
  /** Ends the command in order. Rejects where it has ended before. */
  end(): Promise<void>
}

export interface ToolsOptions {
  children: Children
  /** The path of the script of sluice's command line. */
  program: string
  kubeconfig: string
  config: string
  /** Reports a command when it starts; `onLine` reports lines of its output. */
  onCommand(command: string): void
  onLine(line: string): void
  /** Reports a finding by its command and its code. `isNote` is true where the finding alone means that nothing is wrong. */
  onFound(command: string, code: string, isNote?: boolean): void
}

/** The output of `observe`: the first line of a finding, the summary, and a count with its code in the summary. */
const FINDING = /^\d\d:\d\d:\d\d\.\d+ {2}[‼×] /
const SUMMARY = /^observed for [^;]+; (.*)$/
const COUNTED = /\d+ × ([a-z-]+)/g
/** The line of `doctor` for a check with findings. */
const CHECK = /^[‼×] (?!\d+ passed)/
/** The last line of each finding of `observe` and `doctor`. */
const PAGE = /see docs\/\w+\.md#([a-z-]+)$/
/** The line of `explain` for a finding or a note, with its code. */
const REASON = /^([‼×?]) .* \[([a-z-]+)\]$/
/** The line of `sync` for a problem that begins, with its code. */
const SYNC_PROBLEM = /^\S+ {2}(?!no more: ).* \[([a-z-]+)\]$/
/** The problem of `sync` that takes traffic away. The others say what is kept. */
const SYNC_LOSES = 'source-expired'
/** The lines of `upgrade` that the demo shows. */
const PROGRESS = / (drain of|restore of|✓) |^Done:/
/** The number of findings of one code that are shown. */
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
      // sluice prints both lines once it has read the cluster and the load balancer.
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
    sync(file) {
      const told = new Set<string>()
      const child = start(['sync', '--config', file, '--no-lease'], (line) => {
        const [, code] = SYNC_PROBLEM.exec(line) ?? []
        if (code !== undefined) {
          told.add(code)
          onFound('sync', code, code !== SYNC_LOSES)
        }
        onLine(line)
      })
      return {
        told: () => told,
        async end() {
          child.kill('SIGINT')
          const code = await child.exit
          await child.allRead
          if (code !== 0) throw new DemoError(`sluice sync ended with ${code}: ${child.complaints()}`)
        },
      }
    },
    checkRules: (file) => run(['webhook', 'check', file], onLine, [0]),
    async upgrade(flags) {
      let last = ''
      const take = (line: string): void => {
        if (!PROGRESS.test(line)) return
        // sluice drains again until the load balancer shows it.
        const text = line.replace(/^\S+Z /, '')
        if (text !== last) onLine(line)
        last = text
      }
      await run(['upgrade', ...flags, '-n', NAMESPACE], take, [0])
    },
  }
}

/** Shows the first findings of each code, and the number of the others. The line with the page ends a finding. */
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
