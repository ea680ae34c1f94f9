/** A document that is read and written as a whole, such as a configuration file. */
import type { ScriptCall } from '../host/host.ts'

export interface DocumentText {
  text: string
  /** The version of this write. A later write of the same text has another version. */
  version: string
}

export interface Document {
  /** An identity that all writers of the document share. Locks and scopes use it. */
  identity: string
  read(call: ScriptCall): Promise<DocumentText>
  /**
   * Replaces the text if it still has this version, and gives the new version. Rejects with `conflict` if the document has another version;
   * the document is then unchanged. Only an `ambiguous` error leaves open whether the text was written.
   */
  write(text: string, version: string, call: ScriptCall): Promise<string>
}
