import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkSignature, readSignatureKeys } from '../../src/webhook/sources/signature.ts'
import { ruleDocument } from '../../src/webhook/sources/testing/document.ts'
import { opensslMissing } from '../../src/kube/testing/certificates.ts'
import { makeTemporaryFolder } from '../../src/kube/testing/temporary-folder.ts'

test.skipIf(opensslMissing)('the commands of the page sign a document', async () => {
  const folder = makeTemporaryFolder()
  try {
    folder.write('rules.yaml', ruleDocument(1))
    const script = /```sh\n(openssl genpkey[\s\S]+?)```/.exec(readFileSync('docs/live-rules.md', 'utf8'))?.[1]
    execFileSync('sh', ['-e', '-c', script!], { cwd: folder.path })
    const keys = await readSignatureKeys(join(folder.path, 'rules.pub'))
    expect(checkSignature(readFileSync(join(folder.path, 'rules.signed.yaml')), keys)).toBe('right')
  } finally {
    folder.remove()
  }
})
