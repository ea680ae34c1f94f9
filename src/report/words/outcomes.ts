const RUNS: Readonly<Record<string, string>> = {
  done: 'Done',
  failed: 'Failed',
  rolledBack: 'Rolled back',
  deadline: 'A deadline passed',
  refused: 'Refused, nothing was touched',
  conflict: 'Conflict',
  interrupted: 'Interrupted',
  paused: 'Paused',
  aborted: 'Aborted',
  needsOperator: 'A person has to look',
  resolved: 'A person has looked',
  open: 'Open',
  closed: 'Closed',
}

const PODS: Readonly<Record<string, string>> = {
  rolledBack: 'rolled back',
  conflict: 'in conflict',
  needsOperator: 'in need of an operator',
  unknown: 'not known',
}

/** The outcome of a run, at the beginning of its description. */
export function runOutcome({ outcome }: { outcome: string }): string {
  return RUNS[outcome] ?? outcome
}

/** The outcome of a pod, after its name or a number of pods. */
export function podOutcome({ outcome }: { outcome: string }): string {
  return PODS[outcome] ?? outcome
}

/** The proofs of a pod's restart. */
export const PROOFS: Readonly<Record<string, string>> = {
  witness: 'the container of the first status that has seen the patch was replaced by a running one',
  generation: 'the patch changed no spec, and what runs was proven to be of that spec before',
  event: 'by an Event the kubelet has told that it took the wanted image for the container that runs',
  image: 'the runtime names the wanted image, and its id is none of those before',
  quiet: 'the container has not changed for its grace period and 5 s since the kubelet saw the patch',
}
