/* A program outside of the repository that names the types of what it is given, and of what it gives. */
import {
  type Abort,
  type Advice,
  type AdviceCode,
  type AdviceFields,
  byName,
  type Clock,
  type ContainerRestart,
  createSluice,
  type Difference,
  type EntryBefore,
  type EntryReading,
  type FeedScope,
  type GonePod,
  type HeirRule,
  type JournalStep,
  type LoadBalancerEntry,
  type NamedImage,
  NotOnRecordError,
  type PlannedUpgrade,
  type PodResult,
  type PodStatus,
  type PodView,
  type Random,
  type Reason,
  type ReasonOf,
  type Refusal,
  type RefusalCode,
  type Report,
  type RunEvent,
  type SluiceOptions,
  type Status,
  type Sluice,
  type TimedCall,
  type Unrecorded,
  type Warning,
  adviceWords,
  type ExitCode,
  exitCodeOf,
  reasonWords,
  reportPage,
  type RunResult,
} from 'sluice'
import type { Entry } from 'sluice/adapter'

// What is answered.
export const unrecordedOf = (abort: Abort): readonly Unrecorded[] => (abort.outcome === 'none' ? abort.unrecorded : [])
export const warningsOf = ({ warnings }: Report): Warning[] => warnings
export const restartsOf = ({ restarts = [] }: PodResult): ContainerRestart[] => restarts
export const stepOf = ({ state }: PodStatus): JournalStep => state
export const codeOf = ({ code }: Refusal): RefusalCode => code
export function callOf(event: RunEvent): TimedCall | undefined {
  return event.type === 'apiCall' ? event : undefined
}

// The facts of reasons and advice.
export const differencesOf = ({ differences }: ReasonOf<'template-changed'>): Difference[] => differences
export const fieldsOf = <Code extends AdviceCode>(_code: Code, fields: AdviceFields[Code]): AdviceFields[Code] => fields
export function entriesOf(advice: Advice): EntryBefore[] | LoadBalancerEntry[] {
  return 'entries' in advice ? advice.entries : []
}
export function formerOf(advice: Advice): NamedImage[] {
  return advice.code === 'upgrade-to-working-images' ? advice.former : []
}
export const read = ({ admin, ...entry }: EntryReading): LoadBalancerEntry & { admin: string } => ({ ...entry, admin })

/** An entry as an adapter lists it, and one by its name. */
export const named = (loadBalancer: string, { name }: Entry): LoadBalancerEntry => ({ loadBalancer, target: name })

// The English and the exit code, also by `map`.
export const wordsOf = (reasons: readonly Reason[]): string[] => reasons.map(reasonWords)
export const linesOf = (advice: readonly Advice[]): string[] => advice.flatMap(adviceWords)
export const codesOf = (results: readonly RunResult[]): ExitCode[] => results.map((result) => exitCodeOf(result))
export const pageOf = (report: Report): string => reportPage(report)

// What is thrown, and what is asked for.
export const reasonOf = (error: unknown): Reason | undefined => (error instanceof NotOnRecordError ? error.reason : undefined)
export const statusOf = (sluice: Sluice, { workloads }: PlannedUpgrade): Promise<Status> => sluice.status({ workload: workloads })

// What a program may bring.
export const isHeir: HeirRule = (gone: GonePod, candidate: PodView) => byName(gone, candidate) && candidate.node !== gone.node
const watch: FeedScope = 'request'
const clock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
}
const random: Random = { next: () => Math.random() }
export const open = (options: SluiceOptions): Sluice => createSluice({ ...options, watch, clock, random })
