/*
** epoch.c - times in decimal digits, all of them UTC:
**
**   YYMMDDHHMM        daemons of 1996 to 1998; years from 70 on are 19YY
**   YYYYMMDDHHMM      later tools
**   YYYYMMDDHHMMSS    announced in dcpiformat(4)
*/

#include "formats/dcpi/dcpi.h"


uint64_t dcpi_epoch (pf_bytes digits) {
  uint64_t time = 0;
  if (dcpi_number(digits, 10, &time) != PF_OK)
    return 0;
  switch (digits.size) {
    case 10:
      time += (time >= 7000000000 ? 19 : 20) * UINT64_C(10000000000);
      time *= 100;
      break;
    case 12: time *= 100; break;
    case 14: break;
    default: return 0;
  }
  static const uint8_t days[] = {31, 28, 31, 30, 31, 30,
                                 31, 31, 30, 31, 30, 31};
  const unsigned second = (unsigned)(time % 100);
  const unsigned minute = (unsigned)(time / 100 % 100);
  const unsigned hour = (unsigned)(time / 10000 % 100);
  const unsigned day = (unsigned)(time / 1000000 % 100);
  const unsigned month = (unsigned)(time / 100000000 % 100);
  const unsigned year = (unsigned)(time / 10000000000);
  const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  const bool is_valid =
      month >= 1 && month <= 12 && day >= 1 &&
      day <= days[month - 1] + (unsigned)(month == 2 && is_leap) && hour < 24 &&
      minute < 60 && second < 60;
  return is_valid ? time : 0;
}
