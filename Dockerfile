# One static program for all roles, and nothing else: `make image` builds bin/posta, then this.
FROM scratch
ARG VERSION=unknown
LABEL org.opencontainers.image.title="posta" org.opencontainers.image.version="${VERSION}"
COPY bin/posta /bin/posta
WORKDIR /posta
USER 65532:65532
ENTRYPOINT ["/bin/posta"]
