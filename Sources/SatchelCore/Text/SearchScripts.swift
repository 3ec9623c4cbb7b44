/// The properties of scripts that the search depends on.
enum SearchScripts {
  /// Whether a scalar is already composed, in lower case and a letter: of Chinese, Japanese and Korean texts.
  static func isUnchanged(_ scalar: Int32) -> Bool {
    switch scalar {
    case 0x3041...0x3096, 0x30A1...0x30FA, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3: true
    default: false
    }
  }

  /// Whether a scalar belongs to a script that is written without spaces between words.
  static func hasNoSpaces(_ scalar: Int32) -> Bool {
    switch scalar {
    case 0x0E00...0x0EFF,  // Thai, Lao
      0x1000...0x109F, 0xA9E0...0xA9FF, 0xAA60...0xAA7F,  // Myanmar
      0x1780...0x17FF, 0x19E0...0x19FF,  // Khmer
      0x1950...0x19DF, 0x1A20...0x1AAF,  // Tai Le, New Tai Lue, Tai Tham
      0x3005...0x3007, 0x3021...0x3029, 0x3031...0x303C, 0x3400...0x4DBF, 0x4E00...0x9FFF,
      0xF900...0xFAFF, 0x20000...0x3FFFF,  // Chinese
      0x3040...0x30FF, 0x31F0...0x31FF, 0x1AFF0...0x1B16F:  // Japanese
      true
    default: false
    }
  }

  /// Whether the marks after a letter are optional: the points of Hebrew, the vowels of Arabic.
  static func hasOptionalMarks(_ scalar: Int32) -> Bool {
    (0x05D0...0x05F2).contains(scalar) || (0x0620...0x06FF).contains(scalar)
      || (0x0750...0x077F).contains(scalar)
  }
}
