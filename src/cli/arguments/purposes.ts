/** What the rights of `sluice rbac` are for: a run, or a command that looks and changes nothing. */
export const PURPOSES = ['upgrade', 'explain', 'observe', 'doctor'] as const
export type Purpose = (typeof PURPOSES)[number]
