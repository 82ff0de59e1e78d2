/** The provider's word for a template, in its colour. */
import { Mark, type MarkKind } from '../../parts/mark.tsx'

const kinds: Readonly<Record<string, MarkKind>> = { APPROVED: 'good', PENDING: 'busy', REJECTED: 'bad' }

export const TemplateStatus = ({ status }: { status: string }) => <Mark kind={kinds[status] ?? 'off'}>{status}</Mark>
