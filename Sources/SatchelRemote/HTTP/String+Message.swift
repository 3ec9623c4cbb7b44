extension String {
  /// What a C function wrote into a buffer, up to the first NUL.
  init(message: [CChar]) {
    self.init(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
