import SatchelStorage

/// One row of a photo catalogue: what every platform knows of a photo.
public struct Photo: Sendable {
  /// The MD5 of the photo's bytes.
  public var md5: MD5
  /// The file's name, without its directory.
  public var filename: String
  /// Bytes.
  public var size: Int64
  /// When it was taken: Unix seconds, negative before 1970.
  public var photodate: Int64
  /// When the file was changed: Unix seconds.
  public var modified: Int64
  /// Pixels; nil when unknown.
  public var width: Int64?
  /// Pixels; nil when unknown.
  public var height: Int64?
  /// Its identifier in Apple's photo library; nil when it has none. An empty one counts as none.
  public var applePhotoID: String?

  public init(
    md5: MD5, filename: String, size: Int64, photodate: Int64, modified: Int64, width: Int64? = nil,
    height: Int64? = nil, applePhotoID: String? = nil
  ) {
    self.md5 = md5
    self.filename = filename
    self.size = size
    self.photodate = photodate
    self.modified = modified
    self.width = width
    self.height = height
    self.applePhotoID = applePhotoID?.isEmpty == true ? nil : applePhotoID
  }

  /// Checks what a row can hold, so that whatever is written can be read again.
  ///
  /// - Throws: `SatchelError` (`invalid`) that names the photo and the column.
  public func validate() throws {
    guard size >= 0 else { throw fault("size", size) }
    if let width, width < 0 { throw fault("width", width) }
    if let height, height < 0 { throw fault("height", height) }
  }

  private func fault(_ column: String, _ value: Int64) -> SatchelError {
    SatchelError(.invalid, "photo \(md5): \(column) is \(value), less than nothing")
  }
}

extension Photo: Equatable {
  /// The same row, byte for byte: names that only look the same differ.
  public static func == (left: Photo, right: Photo) -> Bool {
    left.md5 == right.md5 && left.size == right.size && left.photodate == right.photodate
      && left.modified == right.modified && left.width == right.width && left.height == right.height
      && left.filename.utf8.elementsEqual(right.filename.utf8)
      && (left.applePhotoID ?? "").utf8.elementsEqual((right.applePhotoID ?? "").utf8)
  }
}
