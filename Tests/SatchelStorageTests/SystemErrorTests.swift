import Testing

import SatchelCore
import SatchelStorage

@Suite("System errors")
struct SystemErrorTests {
  @Test(
    "each errno has its error code",
    arguments: [
      (ENOENT, SatchelError.Code.notFound), (ENOTDIR, .invalid), (EISDIR, .invalid), (ELOOP, .invalid),
      (ENAMETOOLONG, .invalid), (ENXIO, .invalid), (EROFS, .readOnly), (EACCES, .readOnly),
      (EPERM, .readOnly),
      (ENOSPC, .full), (EDQUOT, .full), (ENOMEM, .noMemory), (EIO, .io), (EMFILE, .io),
    ])
  func codes(number: Int32, code: SatchelError.Code) {
    let error = SatchelError(errno: number, "/photos/0.csv")
    #expect(error.code == code)
    #expect(error.message == "/photos/0.csv: \(String(cString: strerror(number)))")
    let reading = SatchelError(errno: number, "x", denied: .io)
    #expect(reading.code == (code == .readOnly ? .io : code))
  }
}
