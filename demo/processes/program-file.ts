import { join } from 'node:path'

export type Program = 'leash' | 'load-balancer' | 'pod' | 'traffic'

/** Where a program of the demo lies: a source file in development, beside the bundle once it is built (scripts/build.ts). */
export function programFile(program: Program): string {
  return import.meta.filename.endsWith('.ts')
    ? join(import.meta.dirname, '../programs', `${program}.ts`)
    : join(import.meta.dirname, `demo-${program}.js`)
}
