import CImages

/// The libraries that know pictures; each may be absent.
// Unchecked: what it points to is never changed once it is made, and never freed.
struct ImageLibraries: @unchecked Sendable {
  let pointer: OpaquePointer?

  init(_ pointer: OpaquePointer?) { self.pointer = pointer }

  /// Those of the system, opened with the first use.
  static var shared: ImageLibraries { ImageLibraries(satchel_images_shared()) }

  private var available: UInt32 { satchel_images_available(pointer) }

  var hasExif: Bool { available & UInt32(SATCHEL_IMAGES_EXIF) != 0 }
  var hasJPEG: Bool { available & UInt32(SATCHEL_IMAGES_JPEG) != 0 }
  var hasPNG: Bool { available & UInt32(SATCHEL_IMAGES_PNG) != 0 }

  /// Names of those that are not there, with what that means.
  var missing: [String] {
    var missing: [String] = []
    if !hasExif { missing.append("libexif: dates, cameras and positions are not read") }
    if !hasJPEG { missing.append("libturbojpeg: the pixel sizes of JPEGs are not read") }
    if !hasPNG { missing.append("libpng16: the pixel sizes of PNGs are not read") }
    return missing
  }
}
