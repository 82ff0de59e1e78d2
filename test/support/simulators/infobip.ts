/** A simulator of Infobip's SMS API. */
import type { TestContext } from 'node:test'
import { simulatedHttp, type SimulatedRequest, type Odd, type Said } from './http.ts'

export interface InfobipOptions {
  readonly api_key: string
  readonly reach?: (url: string) => string
}

export interface InfobipStatus {
  readonly groupId: number
  readonly groupName: string
  readonly id: number
  readonly name: string
  readonly description: string
}

export interface InfobipMessage {
  readonly messageId: string
  readonly request: InfobipRequest
  status: InfobipStatus
}

interface InfobipRequest {
  readonly sender: string
  readonly destinations: readonly { readonly to: string; readonly messageId: string }[]
  readonly content: { readonly text: string }
  readonly options?: object
  readonly webhooks?: {
    readonly delivery: { readonly url: string; readonly intermediateReport: boolean }
    readonly contentType: string
  }
}

export interface InfobipSimulator {
  readonly url: string
  readonly messages: InfobipMessage[]
  reject(to: string, id: number, name: string): void
  changeKey(api_key: string): void
  answerNext(...answers: Odd[]): void
  report(message: InfobipMessage, status: InfobipStatus, error?: object): Promise<Response>
  receive(webhook_url: string, ...results: readonly Readonly<Record<string, unknown>>[]): Promise<Response>
}

const status = (groupId: number, groupName: string, id: number, name: string): InfobipStatus => ({
  groupId,
  groupName,
  id,
  name,
  description: name,
})
export const infobipStatuses = {
  accepted: status(1, 'PENDING', 26, 'PENDING_ACCEPTED'),
  delivered: status(3, 'DELIVERED', 5, 'DELIVERED_TO_HANDSET'),
  undelivered: status(2, 'UNDELIVERABLE', 9, 'UNDELIVERABLE_NOT_DELIVERED'),
} as const

const exception = (code: number, messageId: string): Said => ({
  status: code,
  body: { requestError: { serviceException: { messageId, text: messageId } } },
})

export async function simulateInfobip(t: TestContext, options: InfobipOptions): Promise<InfobipSimulator> {
  const messages: InfobipMessage[] = []
  const rejections = new Map<string, InfobipStatus>()
  let { api_key } = options
  const { url, answerNext } = await simulatedHttp(t, (received) => {
    if (received.headers.authorization !== `App ${api_key}`) return exception(401, 'UNAUTHORIZED')
    if (received.method === 'GET' && received.path === '/sms/3/logs')
      return { body: { results: logOf(messages, received) } }
    return received.method === 'POST' && received.path === '/sms/3/messages'
      ? take(received)
      : exception(404, 'NOT_FOUND')
  })
  const take = ({ body }: SimulatedRequest): Said => {
    const [request] = (JSON.parse(body.toString()) as { messages: InfobipRequest[] }).messages
    const { to, messageId } = request!.destinations[0]!
    const known = messages.some((message) => message.messageId === messageId)
    const reported = known
      ? status(5, 'REJECTED', 23, 'REJECTED_DUPLICATE_MESSAGE_ID')
      : (rejections.get(to) ?? infobipStatuses.accepted)
    if (reported.groupId === 1) messages.push({ messageId, request: request!, status: reported })
    return {
      body: {
        bulkId: 'BULK-1',
        messages: [{ messageId, status: reported, destination: to, details: { messageCount: 1 } }],
      },
    }
  }
  const post = async (reported: string, body: object): Promise<Response> =>
    await fetch((options.reach ?? ((same: string) => same))(reported), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return {
    url,
    messages,
    reject: (to, id, name) => void rejections.set(to.replace('+', ''), status(5, 'REJECTED', id, name)),
    changeKey: (key) => void (api_key = key),
    answerNext,
    async report(
      message,
      reported,
      error = { groupId: 0, groupName: 'OK', id: 0, name: 'NO_ERROR', description: 'No Error', permanent: false },
    ) {
      message.status = reported
      const { messageId, request } = message
      const times = { sentAt: '2026-01-31T09:30:00.000+0000', doneAt: '2026-01-31T09:30:07.000+0000' }
      const result = {
        bulkId: 'BULK-1',
        messageId,
        to: request.destinations[0]!.to,
        sender: request.sender,
        ...times,
        messageCount: 1,
        status: reported,
        error,
      }
      return await post(request.webhooks!.delivery.url, { results: [result] })
    },
    receive: (webhook_url, ...results) =>
      post(webhook_url, { results, messageCount: results.length, pendingMessageCount: 0 }),
  }
}

function logOf(messages: readonly InfobipMessage[], { query }: SimulatedRequest): object[] {
  const wanted = query.get('messageId')
  const found = messages.filter(({ messageId }) => wanted === null || messageId === wanted)
  return found.slice(0, Number(query.get('limit') ?? 50)).map(({ messageId, request, status: reported }) => ({
    messageId,
    sender: request.sender,
    destination: request.destinations[0]!.to,
    content: request.content,
    messageCount: 1,
    status: reported,
    error: { groupId: 0, groupName: 'OK', id: 0, name: 'NO_ERROR', description: 'No Error', permanent: false },
  }))
}
