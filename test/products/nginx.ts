import { spawnSync } from 'node:child_process'
import { whyNoNginx } from '../../adapters/conformance/beds/nginx-process.ts'
import { findProduct } from './find-product.ts'
import { describeOn, type Program } from './program.ts'

/** Registers the tests of `body` for the installed nginx and for the nginx of PyPI. The tests of a missing nginx are skipped. */
export async function describeOnEachNginx(body: (program: string) => void): Promise<void> {
  for (const version of [installedNginx(), await findProduct('nginx')]) describeOn(version, body)
}

function installedNginx(): Program {
  const missing = whyNoNginx()
  if (missing !== undefined) return { title: missing, program: undefined, version: undefined }
  const version = /\d+\.\d+\.\d+/.exec(spawnSync('nginx', ['-v'], { encoding: 'utf8' }).stderr)?.[0]
  return { title: `nginx ${version} (installed)`, program: 'nginx', version }
}
