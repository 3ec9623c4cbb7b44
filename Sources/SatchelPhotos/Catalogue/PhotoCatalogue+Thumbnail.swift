import SatchelAssets
import SatchelCore

extension PhotoCatalogue {
  /// Returns a thumbnail of a photo: made once from its file, kept as a variant in the store's assets, and the first that
  /// `AssetStore.prune` removes, because it can be made again. A thumbnail that is there is returned although the photo's
  /// file is elsewhere by now.
  ///
  /// - Parameters:
  ///   - longestEdge: the longer one of width and height, in pixels
  ///   - make: makes the thumbnail from the file at a path, and returns it with its media type; nil for the library's own
  ///     function, which scales JPEG and PNG
  /// - Returns: the reference to the thumbnail; `AssetStore.open` reads it
  /// - Throws: `SatchelError` `.notFound` for a photo that the catalogue does not have, and when no file of it is on this
  ///   device; `.invalid` for a size below 1, and for a file that the library does not scale; `.readOnly`, `.full`, `.io`,
  ///   `.closed`
  public func thumbnail(
    of md5: MD5, longestEdge: Int = 400,
    making make: ((_ path: String) throws -> (bytes: [UInt8], type: String?))? = nil
  ) throws -> Asset {
    try checkOpen()
    guard try photo(md5) != nil else { throw SatchelError(.notFound, "\(directory): has no photo \(md5)") }
    return try assets.variant(ofPhoto: md5.bytes, named: AssetStore.name(scaledTo: longestEdge)) {
      let path = try presentFile(of: md5)
      if let make { return try HostWork.calling("a thumbnail function") { try make(path) } }
      let file = try DiskFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
      try DiskFile.refuseSpecial(path, file.status())
      do {
        return try AssetStore.scaled(file.read(ScaledImage.maxMemory), to: longestEdge)
      } catch let error as SatchelError {
        throw SatchelError(error.code, "\(path): \(error.message)", underlying: error)
      }
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
