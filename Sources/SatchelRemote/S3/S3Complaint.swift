/// What a store says in the body of an answer that is no success.
struct S3Complaint {
  /// As "NoSuchKey"; empty when there is none that can be shown.
  private(set) var code = ""
  /// For people; empty when there is none that can be shown.
  private(set) var message = ""

  /// - Parameter credentials: what must not be shown, even if the store repeats it
  init(_ body: [UInt8], hiding credentials: Credentials) {
    guard !body.isEmpty else { return }
    var (code, message) = ("", "")
    // What was read before something went wrong counts: a gateway's error page is no reason to fail otherwise.
    try? XMLText.read(body) { path, text in
      switch (path.count, path.last) {
      case (2, "Code"): code = text
      case (2, "Message"): message = text
      default: break
      }
      return true
    }
    let isName = code.utf8.count <= 64 && code.utf8.allSatisfy { (0x30...0x7A).contains($0) }
    self.code = isName && !credentials.areIn(code) ? code : ""
    let shown = String(
      String.UnicodeScalarView(
        message.unicodeScalars.prefix(200).filter { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }))
    self.message = credentials.areIn(message) ? "" : shown
  }
}
