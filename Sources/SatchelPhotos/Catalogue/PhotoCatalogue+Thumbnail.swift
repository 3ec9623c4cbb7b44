import SatchelAssets
import SatchelCore

extension PhotoCatalogue {
  /// Returns a thumbnail of a photo: made once from its file, kept as a variant in the store's assets, and the first that
  /// `AssetStore.prune` removes, because it can be made again. A thumbnail that is there is returned although the photo's
  /// file is elsewhere by now.
  ///
  /// - Parameters:
  ///   - longestEdge: the longer one of width and height, in pixels
  ///   - make: makes the thumbnail from the file at a path, and returns it with its media type. It is called for what the
  ///     library does not scale itself: a file that is neither JPEG nor PNG, such as HEIC, is too large or damaged, and
  ///     any where libturbojpeg or libpng is not installed. It may use the store, but not close it, and may be called
  ///     twice when two threads ask at once.
  /// - Returns: the reference to the thumbnail; `AssetStore.open` reads it
  /// - Throws: `SatchelError` `.notFound` for a photo that the catalogue does not have, and when no file of it is on this
  ///   device; `.invalid` for a size below 1, and for a file that the library does not scale, without `make`; `.readOnly`,
  ///   `.full`, `.io`, `.closed`; what `make` throws
  public func thumbnail(
    of md5: MD5, longestEdge: Int = 400,
    making make: ((_ path: String) throws -> (bytes: [UInt8], type: String?))? = nil
  ) throws -> Asset {
    guard let make else { return try thumbnail(of: md5, longestEdge: longestEdge, appending: nil) }
    return try thumbnail(of: md5, longestEdge: longestEdge) { path, writer in
      let made = try make(path)
      try writer.append(made.bytes)
      return made.type
    }
  }

  /// Returns a thumbnail of a photo, as `thumbnail(of:longestEdge:making:)` does, whose bytes `make` appends one after the
  /// other.
  package func thumbnail(
    of md5: MD5, longestEdge: Int, appending make: ((_ path: String, AssetWriter) throws -> String?)?
  ) throws -> Asset {
    try checkOpen()
    guard longestEdge >= 1 else {
      throw SatchelError(.invalid, "the longest edge of a thumbnail is at least 1 pixel, not \(longestEdge)")
    }
    guard try photo(md5) != nil else { throw SatchelError(.notFound, "\(directory): has no photo \(md5)") }
    return try assets.variant(ofPhoto: md5.bytes, named: AssetStore.name(scaledTo: longestEdge)) { writer in
      let path = try presentFile(of: md5)
      let file = try DiskFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
      try DiskFile.refuseSpecial(path, file.status())
      let bytes = try file.read(ScaledImage.maxMemory)
      let scaled: (bytes: [UInt8], type: String?)
      do {
        scaled = try AssetStore.scaled(bytes, to: longestEdge)
      } catch let error as SatchelError {
        guard let make, error.code == .invalid || error.code == .io else {
          throw SatchelError(error.code, "\(path): \(error.message)", underlying: error)
        }
        return try HostWork.calling("a thumbnail function", for: assets.work) { try make(path, writer) }
      }
      try writer.append(scaled.bytes)
      return scaled.type
    }
  }

  /// The path of a file of a photo.
  private func presentFile(of md5: MD5) throws -> String {
    for file in try files(of: md5) where file.kind == .photo && file.isPresent {
      let path = "\(directory)/\(file.path)"
      if access(path, R_OK) == 0 { return path }
    }
    throw SatchelError(.notFound, "\(directory): no file of the photo \(md5) is here; a scan finds new ones")
  }
}
