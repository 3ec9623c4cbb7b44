import Foundation
import SatchelAssets
import SatchelCore

extension AssetReader {
  /// The URL of the file, for AVPlayer, image views and share sheets: the file stays while the reader is open. Nil for a
  /// small asset, which is in the store's file.
  ///
  /// - Throws: as `path`
  public var url: URL? { get throws { try path.map { URL(filePath: $0) } } }
}

extension AssetStore {
  /// Puts the content of a file into the store; the file stays. See `put(contentsOf:type:)`.
  ///
  /// - Throws: `SatchelError` `.invalid` for a URL that is no file's
  @discardableResult
  public func put(contentsOf url: URL, type: String? = nil) throws -> Asset {
    guard url.isFileURL else {
      throw SatchelError(.invalid, "\(url.absoluteString): is no file; assets.fetch gets what is elsewhere")
    }
    return try put(contentsOf: url.path(percentEncoded: false), type: type)
  }
}
