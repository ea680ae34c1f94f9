import { z } from 'zod'

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '')

/** `users[].user.exec` of a kubeconfig. Missing fields are empty; `execProblems` reports the required ones. */
export const ExecConfig = z.object({
  apiVersion: text,
  command: text,
  args: z
    .array(text)
    .nullish()
    .transform((args) => args ?? []),
  env: z
    .array(z.object({ name: text, value: text }))
    .nullish()
    .transform((env) => env ?? []),
  installHint: text,
  provideClusterInfo: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false),
  interactiveMode: text,
})
export type ExecConfig = z.infer<typeof ExecConfig>

const BETA = 'client.authentication.k8s.io/v1beta1'
const VERSIONS = ['client.authentication.k8s.io/v1', BETA]
const MODES = ['Never', 'IfAvailable', 'Always']

/** The interactive mode. `IfAvailable` is the default of v1beta1; v1 has no default. */
export function interactiveModeOf({ apiVersion, interactiveMode }: ExecConfig): string {
  return interactiveMode === '' && apiVersion === BETA ? 'IfAvailable' : interactiveMode
}

export function execProblems(exec: ExecConfig): string[] {
  const problems: string[] = []
  if (exec.command === '') problems.push('exec.command is empty, and must be given')
  if (!VERSIONS.includes(exec.apiVersion)) problems.push(`exec.apiVersion must be one of ${VERSIONS.join(', ')}`)
  if (!MODES.includes(interactiveModeOf(exec))) problems.push(`exec.interactiveMode must be one of ${MODES.join(', ')}`)
  if (exec.env.some(({ name }) => name === '')) problems.push('exec.env has an entry without a name')
  return problems
}
