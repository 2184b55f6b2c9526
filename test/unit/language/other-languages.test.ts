import { expect, test } from 'vitest'
import { recogniseDates } from '../../../server/language/dates.ts'

const clock = { now: new Date('2025-06-15T10:00:00Z'), timeZone: 'UTC' }

test.each([
  ['wie viele bestellungen gab es letzte woche', '2025-06-02', '2025-06-08', null],
  ['wie viele bestellungen gab es in den letzten 7 tagen', '2025-06-09', '2025-06-15', null],
  ['wie viele bestellungen gab es in den letzten 3 monaten', '2025-03-16', '2025-06-15', null],
  ['wie viele bestellungen gab es im märz', '2025-03-01', '2025-03-31', null],
  ['wie viele bestellungen gab es im märz 2024', '2024-03-01', '2024-03-31', null],
  ['wie viele bestellungen gab es im jahr 2024', '2024-01-01', '2024-12-31', null],
  ['wie viele bestellungen gab es seit dem 5. mai', '2025-05-05', '2025-05-05', 'after'],
  ['wie viele bestellungen gab es bis zum 5. mai', '2025-05-05', '2025-05-05', 'before'],
  ['wie viele bestellungen gab es zwischen dem 2. und dem 6. mai', '2025-05-02', '2025-05-06', null],
  ['combien de commandes depuis le 5 mai', '2025-05-05', '2025-05-05', 'after'],
  ['combien de commandes en mars 2024', '2024-03-01', '2024-03-31', null],
  ['combien de commandes les 7 derniers jours', '2025-06-09', '2025-06-15', null],
  ['combien de commandes la semaine dernière', '2025-06-02', '2025-06-08', null],
  ['combien de commandes entre le 2 et le 6 mai', '2025-05-02', '2025-05-06', null],
  ['cuántos pedidos hubo del 2 al 6 de noviembre', '2024-11-02', '2024-11-06', null],
  ['cuántos pedidos hubo antes del 5 de mayo', '2025-05-05', '2025-05-05', 'before'],
])('other languages: %s', (text, first, last, open) => {
  expect(recogniseDates(text, clock)).toMatchObject([{ first, last, open }])
})

test.each([
  'wie viele bestellungen gab es im dritten quartal 2024',
  'wie viele bestellungen gab es im sommer 2024',
  'wie viele bestellungen gab es anfang 2024',
  'wie viele bestellungen gab es ende oktober',
  'combien de commandes fin octobre',
  'combien de commandes au premier semestre 2024',
])('a part of a period in another language is not the whole of it: %s', (text) => {
  expect(recogniseDates(text, clock)).toEqual([])
})
