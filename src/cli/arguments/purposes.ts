/** The purposes of the rights of `sluice rbac`: a run, or a command that only reads. */
export const PURPOSES = ['upgrade', 'explain', 'observe', 'doctor'] as const
export type Purpose = (typeof PURPOSES)[number]
