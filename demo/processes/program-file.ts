import { join } from 'node:path'

export type Program = 'leash' | 'load-balancer' | 'pod' | 'traffic'

/**
 * Returns the path of a program of the demo: a source file in development, a file beside the bundle after the build (scripts/build.ts).
 */
export function programFile(program: Program): string {
  return import.meta.filename.endsWith('.ts')
    ? join(import.meta.dirname, '../programs', `${program}.ts`)
    : join(import.meta.dirname, `demo-${program}.js`)
}
