/** Lists the templates of a WhatsApp Business account. */
import type { Connection, ProviderTools, TemplateRecord } from '../provider.ts'
import { refusalOf } from './codes.ts'
import { callGraph, credentialsOf, segment, objectAt, objectsAt, textAt } from './api.ts'
import type { Fields } from '../../lib/json.ts'

const fields = 'id,name,language,status,category,parameter_format,components,rejected_reason'
const pageTemplates = 100
const pagesMax = 70
const pageBytesMax = 2 * 1024 * 1024

export async function listTemplates(
  tools: ProviderTools,
  connection: Connection,
  signal: AbortSignal,
  name: string | undefined,
): Promise<readonly TemplateRecord[]> {
  const credentials = credentialsOf(connection)
  const path = `${segment(credentials.business_account_id)}/message_templates`
  const found: TemplateRecord[] = []
  let after: string | undefined
  for (let page = 0; page < pagesMax; page++) {
    const query = {
      fields,
      limit: String(pageTemplates),
      ...(name === undefined ? {} : { name }),
      ...(after === undefined ? {} : { after }),
    }
    const answer = await callGraph(
      tools,
      credentials,
      { method: 'GET', path, query, answer_bytes_max: pageBytesMax },
      signal,
    )
    if (answer.kind === 'error') throw new Error(refusalOf(answer.error, answer.status).message)
    if (answer.kind !== 'ok') throw new Error(answer.message)
    const listed = answer.body['data']
    if (!Array.isArray(listed) || objectsAt(answer.body, 'data').length < listed.length)
      throw new Error("WhatsApp's API answered with something that is not a list of templates.")
    found.push(...objectsAt(answer.body, 'data').flatMap(recordOf))
    const paging = objectAt(answer.body, 'paging')
    const next = paging?.['next'] === undefined ? undefined : textAt(objectAt(paging, 'cursors') ?? {}, 'after')
    if (next === undefined || next === after) return ofName(found, name)
    after = next
  }
  return ofName(found, name)
}

const ofName = (found: readonly TemplateRecord[], name: string | undefined): readonly TemplateRecord[] =>
  name === undefined ? found : found.filter((one) => one.name === name)

function recordOf(template: Fields): TemplateRecord[] {
  const [provider_id, name, language] = [textAt(template, 'id'), textAt(template, 'name'), textAt(template, 'language')]
  if (provider_id === undefined || name === undefined || language === undefined) return []
  const rejected = textAt(template, 'rejected_reason')
  return [
    {
      provider_id,
      name,
      language,
      category: textAt(template, 'category') ?? 'UTILITY',
      status: textAt(template, 'status') ?? 'PENDING',
      parameter_format: textAt(template, 'parameter_format') ?? 'POSITIONAL',
      components: objectsAt(template, 'components'),
      rejected_reason: rejected === undefined || rejected === 'NONE' ? null : rejected,
      updated_at: null,
    },
  ]
}
