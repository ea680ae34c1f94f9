/** The purposes of the rights of `sluice rbac`: a run, a command that only reads, or a program that runs in the cluster. */
export const PURPOSES = ['upgrade', 'explain', 'observe', 'doctor', 'webhook', 'sync', 'sync-source'] as const
export type Purpose = (typeof PURPOSES)[number]
